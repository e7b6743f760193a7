// What is wrong with a page for those who see little, use a screen reader, a keyboard or a telephone. Each fault is a line.
() => {
  const faults = [];
  const about = (element) => element.outerHTML.slice(0, 120);
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true });

  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) {
    const widest = [...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > innerWidth);
    faults.push(`scrolls to the side, ${wide} > ${innerWidth}: ${widest.map(about).slice(0, 3).join(" ")}`);
  }

  for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
    const label = [...field.labels].map((each) => each.textContent.trim()).join(" ");
    if (!label && !field.ariaLabel) faults.push(`without a label: ${about(field)}`);
  }
  for (const button of document.querySelectorAll("button, a[href], summary")) {
    if (!button.textContent.trim() && !button.ariaLabel) faults.push(`without a name: ${about(button)}`);
  }
  for (const image of document.images) if (!image.alt) faults.push(`without a text: ${about(image)}`);

  let level = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4")) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) faults.push(`a heading that skips a level: ${about(heading)}`);
    level = next;
  }
  if (document.querySelectorAll("h1").length !== 1) faults.push("not one heading of the page");
  if (!document.documentElement.lang || !document.title) faults.push("without a language or a title");
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  if (new Set(ids).size < ids.length) faults.push("two elements with one id");

  const light = (text) => {
    const [red, green, blue] = text.match(/[\d.]+/g).slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if (!colour.endsWith(", 0)")) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  for (const element of document.querySelectorAll("body *")) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (!hasText || !isShown(element)) continue;
    const [dark, bright] = [light(getComputedStyle(element).color), light(ground(element))].sort((a, b) => a - b);
    const contrast = (bright + 0.05) / (dark + 0.05);
    if (contrast < 4.5) faults.push(`contrast ${contrast.toFixed(1)}: ${about(element)}`);
  }
  return faults;
}
