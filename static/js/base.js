// What other modules share. It loads nothing later, so that its own name can depend on its content.
import "./errors.js";
import "./menus.js";
import "./restored.js";
import "./shortcuts.js";
import "./themes.js";
import "./toasts.js";
import "./worker.js";
