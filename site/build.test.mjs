import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { buildSite } from './build.mjs'
import { contents } from './contents.mjs'
import { sectionOf, slugOf } from './markdown.mjs'
import { countCases, generatePages } from './reference.mjs'

function aFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'site-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A site of the given documents, of which the first one is in the menu. */
function siteOf(documents) {
  const [from, folder] = [aFolder(), aFolder()]
  for (const [file, text] of Object.entries(documents)) {
    mkdirSync(dirname(join(from, file)), { recursive: true })
    writeFileSync(join(from, file), text)
  }
  const pages = [{ file: 'index.html', title: 'First', sources: [Object.keys(documents)[0]] }]
  const built = buildSite({ folder, contents: [{ title: 'Menu', pages }], generated: {}, from })
  return { ...built, read: (file) => readFileSync(join(folder, file), 'utf8') }
}

test('the site of this project has a page for each entry of its menu, and no broken link', async () => {
  const folder = aFolder()
  const { pages, broken } = buildSite({ folder, contents, generated: await generatePages() })
  expect(broken).toEqual([])
  expect(pages).toEqual(expect.arrayContaining(contents.flatMap(({ pages: listed }) => listed.map(({ file }) => file))))
  const read = (file) => readFileSync(join(folder, file), 'utf8')
  expect(read('kinds.html')).toContain('<td>deployments</td>')
  expect(read('metrics.html')).toContain('<code>apiserver_request_total</code>')
  expect(read('coverage.html')).toMatch(/<td>RV<\/td>\s*<td>resourceVersion semantics<\/td>\s*<td>[1-9]\d*<\/td>\s*<td>[1-9]/)
  for (const page of pages) expect(read(page)).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">')
})

test('the search finds sections by words of their headings and texts', () => {
  const { read } = siteOf({ 'a.md': '# Top\n\nwords\n\n## Garbage collection\n\nowners\n\n```sh\ntyped\n```\n' })
  const search = `;(text) => { const made = new MiniSearch({ fields: ['heading', 'body'], storeFields: ['url'] })
    made.addAll(searchSections.map((section, id) => ({ id, ...section }))); return made.search(text).map(({ url }) => url).join() }`
  const found = runInNewContext(`${read('minisearch.js')}\n${read('search-index.js')}\n${search}`)
  expect(['words', 'garbage', 'owners', 'typed', 'other'].map((text) => found(text))).toEqual([
    'index.html#top',
    'index.html#garbage-collection',
    'index.html#garbage-collection',
    'index.html#garbage-collection',
    '',
  ])
})

test.for([
  ['no such document', '[x](gone.md)', 'index.html (a.md): gone.md leads to no file'],
  ['no such file', '[x](code/gone.ts)', 'index.html (a.md): code/gone.ts leads to no file'],
  ['a file outside of the repository', '[x](../secret)', 'index.html (a.md): ../secret leads to no file'],
  ['no such heading on the page', '[x](#gone)', 'index.html (a.md): #gone names no heading of index.html'],
  ['no such heading on another page', '[x](b.md#gone)', 'index.html (a.md): b.md#gone names no heading of b.html'],
])('a link to %s is broken', ([, link, broken]) => {
  expect(siteOf({ 'a.md': `# A\n\n${link}\n`, 'b.md': '# B\n' }).broken).toEqual([broken])
})

test('links lead to pages, headings and copied files; a linked document becomes a page, and its links are checked too', () => {
  const first = '# A\n\n[b](docs/b.md#the-second) [code](code/x.ts) [out](https://example.com) [here](#a)\n'
  const site = siteOf({ 'a.md': first, 'docs/b.md': '# B\n\n## The `second`\n\n[gone](c.md) [back](../a.md#a)\n', 'code/x.ts': 'text' })
  expect(site.pages).toEqual(['index.html', 'docs-b.html'])
  for (const target of ['docs-b.html#the-second', 'files/code/x.ts.txt', 'https://example.com', '#a']) {
    expect(site.read('index.html')).toContain(`href="${target}"`)
  }
  expect(site.read('docs-b.html')).toContain('href="index.html#a"')
  expect(site.read('files/code/x.ts.txt')).toBe('text')
  expect(site.broken).toEqual(['docs-b.html (docs/b.md): c.md leads to no file'])
})

test('text of documents is escaped, so that it adds no HTML', () => {
  expect(siteOf({ 'a.md': '# A\n\n<script>x</script>\n' }).read('index.html')).toContain('&lt;script&gt;x')
})

test('a section ends at a heading of its level, and headings within code are ignored', () => {
  expect(sectionOf('# A\n## B\nb\n### C\n```\n## no\n```\n## D\n', 'b')).toBe('## B\nb\n### C\n```\n## no\n```')
  expect(() => sectionOf('# A\n', 'b')).toThrow('there is no section b')
  expect(slugOf('--runtime-config: `x` & y')).toBe('--runtime-config-x--y')
})

test.each([
  ['lines without a header', 'a.jsonl', '{"name":"one"}\n{"name":"two"}\n', 2],
  ['lines after a notice', 'a.jsonl', '{"notice":"x"}\n{"name":"one"}\n', 1],
  ['lines after what they are from', 'a.jsonl', '{"from":["x"]}\n{"name":"one"}\n', 1],
  ['a table', 'a.json', '{"about":"x","cases":[{},{}]}', 2],
  ['several tables', 'a.json', '{"notice":"x","one":{"cases":[{}]},"other":{"cases":[{},{}]}}', 3],
  ['no table', 'a.json', '{"flags":["x"],"none":null}', 0],
])('cases are counted: %s', (_title, file, text, count) => {
  expect(countCases(file, text)).toBe(count)
})
