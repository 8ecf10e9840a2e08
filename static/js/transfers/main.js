import "./acts.js";
import "./list.js";
import "./menu.js";
import "./notices.js";
