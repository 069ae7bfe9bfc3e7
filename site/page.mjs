/** A page around its text: the menu beside it, above it on a phone. */

/** The whole document of a page. */
export function layOut({ contents, page, html }) {
  const menu = contents
    .map(({ title, pages }) => `<h2>${title}</h2>\n<ul>\n${pages.map((one) => entryOf(one, page)).join('\n')}\n</ul>`)
    .join('\n')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeText(page.title)} · orch</title>
<link rel="stylesheet" href="style.css">
</head>
<body>
<header>
<a class="name" href="index.html">orch</a>
<div class="search">
<input id="search" type="search" placeholder="Search" aria-label="Search" autocomplete="off">
<ol id="found" hidden></ol>
</div>
</header>
<div class="columns">
<nav aria-label="Pages">
<details class="menu">
<summary>Pages</summary>
${menu}
</details>
</nav>
<main>
${html}
</main>
</div>
<script src="search.js"></script>
</body>
</html>
`
}

function entryOf({ file, title }, page) {
  return `<li><a href="${file}"${file === page.file ? ' aria-current="page"' : ''}>${escapeText(title)}</a></li>`
}

function escapeText(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
