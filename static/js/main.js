import "./base.js";
import "./dialogs.js";
import "./kept.js";
