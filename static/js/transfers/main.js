import "./acts.js";
import "./list.js";
import "./morphing.js";
import "./menu.js";
import "./notices.js";
