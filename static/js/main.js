import "./base.js";
import "./dialogs.js";
import "./deferred.js";
