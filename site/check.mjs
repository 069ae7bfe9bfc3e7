/**
 * The links of all documents, for `npm run lint`; pages that are made from code are left out. Prints those that lead nowhere, and ends
 * with 1 where there is one.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSite } from './build.mjs'
import { contents } from './contents.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = mkdtempSync(join(tmpdir(), 'site-'))
try {
  const listed = contents.flatMap(({ pages }) => pages)
  const generated = Object.fromEntries(
    listed.filter((page) => page.generated !== undefined).map((page) => [page.generated, `# ${page.title}`]),
  )
  const pages = readdirSync(join(root, 'docs'), { recursive: true }).filter((name) => name.endsWith('.md'))
  const documents = ['README.md', ...pages.map((name) => `docs/${name}`)]
  const unlisted = documents.filter((file) => !listed.some(({ sources = [] }) => sources.includes(file)))
  const others = unlisted.map((file) => ({ file: `${file.replaceAll('/', '-')}.html`, title: file, sources: [file] }))
  const { broken } = buildSite({ folder, contents: [...contents, { title: 'Others', pages: others }], generated })
  for (const link of broken) process.stderr.write(`${link}\n`)
  if (broken.length === 0) process.stdout.write('Each link of the documents leads somewhere.\n')
  process.exitCode = broken.length === 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
