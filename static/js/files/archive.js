// Coming back to this page, or loading it again, starts nothing.
const [visit] = performance.getEntriesByType("navigation");
if (visit?.type === "navigate") document.getElementById("download").click();
