import "./acts.js";
import "./choosing.js";
import "./filter.js";
import "./list.js";
import "./morphing.js";
import "./notices.js";
import "./on-first-use.js";
