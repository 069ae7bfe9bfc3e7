/** `npm run site`: writes the site to `site/dist`, or to the folder that is named, and prints where it is. */
import { join, resolve } from 'node:path'
import { buildSite } from './build.mjs'
import { contents } from './contents.mjs'
import { generatePages } from './reference.mjs'

const folder = resolve(process.argv[2] ?? join(import.meta.dirname, 'dist'))
const { pages, broken } = buildSite({ folder, contents, generated: await generatePages() })
for (const link of broken) process.stderr.write(`${link}\n`)
process.stdout.write(`${pages.length} pages: ${join(folder, 'index.html')}\n`)
process.exitCode = broken.length === 0 ? 0 : 1
