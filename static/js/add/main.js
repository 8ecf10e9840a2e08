import "./box.js";
import "./destination.js";
import "./files.js";
