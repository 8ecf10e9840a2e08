import "./box.js";
import "./files.js";
