// What our scripts say of a button while it is in use.
const OURS = new Set(["aria-expanded", "aria-busy"]);

// Makes one element say what another says, and keeps every part that is the same: a bar glides,
// a button that has the focus keeps it.
export function patch(shown, fresh) {
  if (shown.isEqualNode(fresh)) return;
  attributes(shown, fresh);
  const before = [...shown.childNodes];
  const after = [...fresh.childNodes];
  after.forEach((node, index) => {
    const old = before[index];
    if (!old) shown.append(node);
    else if (!isAlike(old, node)) old.replaceWith(node);
    else if (node.nodeType === Node.ELEMENT_NODE) patch(old, node);
    else if (old.data !== node.data) old.data = node.data;
  });
  for (const old of before.slice(after.length)) old.remove();
}

function isAlike(one, other) {
  return one.nodeType === other.nodeType && one.nodeName === other.nodeName && classOf(one) === classOf(other);
}

const classOf = ({ classList }) => classList?.[0] ?? "";

function attributes(shown, fresh) {
  for (const { name } of [...shown.attributes]) if (!fresh.hasAttribute(name) && !OURS.has(name)) shown.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (shown.getAttribute(name) !== value) shown.setAttribute(name, value);
}
