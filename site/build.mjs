/**
 * The documents as a site: pages of HTML without a server, a menu, and a search that runs in the browser. Every link has to lead somewhere:
 * to a page, to a heading on it, or to a file of the repository, which is then copied.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createRenderer, sectionOf } from './markdown.mjs'
import { layOut } from './page.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const require = createRequire(import.meta.url)

/**
 * Writes the site into a folder. `contents` is the menu, `generated` the text of the pages that are made from code, by name. Returns the
 * pages that were written and the links that lead nowhere.
 */
export function buildSite({ folder, contents, generated, from = root }) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const listed = contents.flatMap(({ pages }) => pages)
  const site = { from, folder, listed, linked: new Map(), files: new Set(), generated }
  const rendered = new Map()
  // Documents that pages link to become pages too, and may link to others.
  for (;;) {
    const page = [...listed, ...site.linked.values()].find(({ file }) => !rendered.has(file))
    if (page === undefined) break
    rendered.set(page.file, renderPage(site, page))
  }
  for (const [file, { html }] of rendered) {
    const page = [...listed, ...site.linked.values()].find((one) => one.file === file)
    writeFileSync(join(folder, file), layOut({ contents, page, html }))
  }
  writeSearch(folder, rendered)
  for (const file of site.files) copyFile(from, folder, file)
  return {
    pages: [...rendered.keys()],
    broken: [...rendered.values()].flatMap(({ links }) => links.flatMap((link) => check(link, rendered))),
  }
}

function renderPage(site, { file, title, sources = [], generated }) {
  const page = { headings: [], links: [] }
  const render = createRenderer({ ...page, resolve: (target, source) => resolveLink(site, file, { target, source }) })
  const parts =
    generated === undefined
      ? sources.map((source) => ({ source: source.split('#')[0], text: readSource(site.from, source) }))
      : [{ source: 'site/generated.md', text: site.generated[generated] }]
  return { ...page, title, html: parts.map(({ source, text }) => render(text, source)).join('\n') }
}

function readSource(from, source) {
  const [file, section] = source.split('#')
  const text = readFileSync(join(from, file), 'utf8')
  return section === undefined ? text : sectionOf(text, section)
}

/** Resolves a link: the text for the page, and the file that must exist. */
function resolveLink(site, page, { target, source }) {
  if (/^(?:https?|mailto):/.test(target)) return { href: target }
  const [path = '', anchor] = target.split('#')
  const needs = (file) => ({ page, target, source, file, anchor })
  if (path === '') return { href: target, needs: needs(page) }
  const file = posix.join(posix.dirname(source), path)
  const found = pageOf(site, file, anchor)
  if (found !== undefined) return { href: anchor === undefined ? found : `${found}#${anchor}`, needs: needs(found) }
  if (file.startsWith('..') || !existsSync(join(site.from, file))) return { href: target, needs: needs(undefined) }
  site.files.add(file)
  return { href: `files/${copiedName(site.from, file)}` }
}

/** The page that shows a document: one of the menu, or one that is made since another links to it. */
function pageOf(site, file, anchor) {
  const document = existsSync(join(site.from, file, 'README.md')) ? posix.join(file, 'README.md') : file
  const whole = site.listed.find(({ sources = [] }) => sources.includes(document))
  const part = site.listed.find(({ sources = [] }) => sources.includes(`${document}#${anchor}`))
  if (part !== undefined && whole === undefined) return part.file
  if (whole !== undefined) return whole.file
  if (!document.endsWith('.md') || !existsSync(join(site.from, document))) return undefined
  const name = `${document.replace(/\.md$/, '').replaceAll('/', '-').toLowerCase()}.html`
  if (!site.linked.has(document)) site.linked.set(document, { file: name, title: document, sources: [document] })
  return name
}

function check({ needs }, rendered) {
  if (needs === undefined) return []
  const { page, target, file, anchor, source } = needs
  const there = rendered.get(file)
  if (there === undefined) return [`${page} (${source}): ${target} leads to no file`]
  if (anchor === undefined || there.headings.some(({ id }) => id === anchor)) return []
  return [`${page} (${source}): ${target} names no heading of ${file}`]
}

/** Files are texts for the browser; pictures and folders keep their names. */
function copiedName(from, file) {
  if (statSync(join(from, file)).isDirectory()) return `${file}/`
  return /\.(?:svg|webp|png)$/.test(file) ? file : `${file}.txt`
}

function copyFile(from, folder, file) {
  const target = join(folder, 'files', copiedName(from, file))
  mkdirSync(dirname(target), { recursive: true })
  cpSync(join(from, file), target, {
    recursive: true,
    filter: (path) => !/node_modules|[/\\]dist(?:[/\\]|$)/.test(path.slice(from.length)),
  })
}

/** The search finds sections. Its index is a script, since pages that are opened as files may not fetch. */
function writeSearch(folder, rendered) {
  const sections = [...rendered].flatMap(([file, { title, headings }]) =>
    headings.map(({ id, text, body }) => ({
      url: `${file}#${id}`,
      page: title,
      heading: text,
      body: body.replaceAll(/\s+/g, ' ').slice(0, 2000),
    })),
  )
  writeFileSync(join(folder, 'search-index.js'), `const searchSections = ${JSON.stringify(sections)}\n`)
  cpSync(join(dirname(require.resolve('minisearch')), '../umd/index.js'), join(folder, 'minisearch.js'))
  for (const file of ['search.js', 'style.css']) cpSync(join(root, 'site', file), join(folder, file))
}
