import "./filter.js";
import "./keys.js";
import "./later.js";
import "./opening.js";
import "./pictures.js";
import "./selection.js";
import "./swaps.js";
import "./windows.js";
