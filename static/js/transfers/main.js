import "./acts.js";
import "./choosing.js";
import "./list.js";
import "./morphing.js";
import "./notices.js";

// Load what only rows need once there are some.
const loadForRows = () => document.querySelector("#groups .transfer") && import("./hand.js");
document.addEventListener("transfers-shown", loadForRows);
loadForRows();
