import "./dialogs.js";
import "./errors.js";
import "./menus.js";
import "./restored.js";
import "./shortcuts.js";
import "./themes.js";
import "./toasts.js";
import "./worker.js";
