// The modules that all pages share. None of them uses import(), so that the hash in this file's name
// can depend on its content.
import "./errors.js";
import "./menus.js";
import "./back-forward-cache.js";
import "./server.js";
import "./shortcuts.js";
import "./themes.js";
import "./toasts.js";
import "./worker.js";
