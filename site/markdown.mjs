/** Markdown to HTML, with the headings and links that it has. */
import markdownIt from 'markdown-it'

/**
 * A function that renders a text, given with the path of its file, for one page: headings and links of all texts are added to the lists.
 * `resolve` says where a link or a picture leads.
 */
export function createRenderer({ headings, links, resolve }) {
  const markdown = markdownIt({ html: false, linkify: false })
  const counts = new Map()
  return (text, source) => {
    const tokens = markdown.parse(text, {})
    for (const [index, token] of tokens.entries()) {
      if (token.type === 'heading_open') addHeading(token, tokens[index + 1])
      if (token.type === 'table_open') token.attrSet('tabindex', '0')
      if (token.type === 'inline') {
        const last = headings.at(-1)
        if (last !== undefined && tokens[index - 1]?.type !== 'heading_open') last.body += ` ${textOf(token)}`
        for (const child of token.children) {
          if (child.type === 'link_open') redirect(child, 'href', source)
          if (child.type === 'image') redirect(child, 'src', source)
        }
      }
      if (token.type === 'fence' && headings.length > 0) headings.at(-1).body += ` ${token.content}`
    }
    return markdown.renderer.render(tokens, markdown.options, {})
  }

  function addHeading(token, inline) {
    const text = textOf(inline)
    const name = slugOf(text)
    const count = counts.get(name) ?? 0
    counts.set(name, count + 1)
    const id = count === 0 ? name : `${name}-${count}`
    token.attrSet('id', id)
    headings.push({ id, text, body: '' })
  }

  function redirect(token, name, source) {
    const target = decodeURI(token.attrGet(name))
    const { href, needs } = resolve(target, source)
    token.attrSet(name, href)
    links.push({ needs })
  }
}

/** The name of a heading in links, as GitHub makes it. */
export function slugOf(text) {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

/** The section of a text that a heading begins, with its subsections. */
export function sectionOf(text, slug) {
  const lines = text.split('\n')
  const levels = levelsOf(lines)
  const begin = lines.findIndex((line, index) => levels[index] > 0 && slugOf(line.replace(/^#+ /, '').replaceAll('`', '')) === slug)
  if (begin < 0) throw new Error(`there is no section ${slug}`)
  const end = levels.findIndex((level, index) => index > begin && level > 0 && level <= levels[begin])
  return lines.slice(begin, end < 0 ? undefined : end).join('\n')
}

/** The level of the heading that each line is; 0 for other lines, and within blocks of code. */
function levelsOf(lines) {
  let isCode = false
  return lines.map((line) => {
    if (line.startsWith('```')) isCode = !isCode
    return isCode ? 0 : (/^(#+) /.exec(line)?.[1].length ?? 0)
  })
}

function textOf({ children }) {
  return children.map(({ type, content }) => (type === 'softbreak' ? ' ' : content)).join('')
}
