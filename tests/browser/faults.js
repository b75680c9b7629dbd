// Returns what of the panels on this page cannot be found, read or reached by everybody.
() => {
    const faults = [];
    const seen = (element) => {
        const { width, height } = element.getBoundingClientRect();
        return width > 0 && height > 0 && getComputedStyle(element).visibility !== "hidden";
    };
    const named = (element) =>
        [element.getAttribute("aria-label"), ...[...(element.labels ?? [])].map((label) => label.textContent),
         element.textContent].some((text) => text?.trim());
    const numbers = (colour) => {
        const [red, green, blue, alpha = 1] = colour.match(/[\d.]+/g).map(Number);
        return [red, green, blue, alpha];
    };
    const over = (top, below) => [0, 1, 2].map((at) => top[at] * top[3] + below[at] * (1 - top[3])).concat(1);
    const ground = (element) => {
        const own = numbers(getComputedStyle(element).backgroundColor);
        return own[3] === 1 || !element.parentElement ? own : over(own, ground(element.parentElement));
    };
    const light = (colour) => {
        const [red, green, blue] = colour.map((part) => part / 255).map((part) =>
            part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const contrast = (one, other) => {
        const [dark, bright] = [light(one), light(other)].sort((a, b) => a - b);
        return (bright + 0.05) / (dark + 0.05);
    };
    for (const panel of document.querySelectorAll(".nbgraph-panel")) {
        for (const part of panel.querySelectorAll("button, input, select, textarea, [tabindex]"))
            if (seen(part) && !named(part)) faults.push(["no name", part.outerHTML.slice(0, 80)]);
        for (const group of panel.querySelectorAll("[role=group], [role=radiogroup], [role=region]"))
            if (seen(group) && !group.getAttribute("aria-label")) faults.push(["no name", group.className]);
        for (const strip of panel.querySelectorAll(".nbgraph-strip"))
            if (strip.querySelector("button") && strip.querySelectorAll("button[tabindex='0']").length !== 1)
                faults.push(["stops", "strip"]);
        const texts = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT);
        while (texts.nextNode()) {
            const { parentElement: element, data } = texts.currentNode;
            if (!data.trim() || !seen(element)) continue;
            const style = getComputedStyle(element);
            if (parseFloat(style.fontSize) < 11) faults.push(["small", data]);
            if (element.closest("svg")) continue;
            const found = contrast(over(numbers(style.color), ground(element)), ground(element));
            if (found < 4.5) faults.push([found.toFixed(2), data]);
        }
        const { right } = panel.getBoundingClientRect();
        const wide = (part) => seen(part) && part.getBoundingClientRect().right > right + 1;
        const scrolls = ".nbgraph-svg, .nbgraph-strip, .nbgraph-log";
        for (const part of panel.querySelectorAll("*"))
            if (wide(part) && !part.closest(scrolls)) faults.push(["too wide", part.className]);
    }
    return faults;
}
