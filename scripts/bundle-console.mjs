/** Builds the files of the console for browsers from `console/src`. */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { build } from 'esbuild'
import { root } from './root.mjs'

const source = join(root, 'console/src')

const common = {
  bundle: true,
  platform: 'browser',
  target: ['chrome120', 'firefox121', 'safari17.4'],
  conditions: ['source'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  minify: true,
  legalComments: 'none',
  logLevel: 'error',
}

/** The source files in the bundle of the console, for the list of licences. */
export const consoleSourcesFile = 'console-sources.json'

/** Writes the files into a folder, and beside it `trace.html`, the page of traces that opens from a disk, and the list of source files. */
export async function bundleConsole(folder) {
  mkdirSync(folder, { recursive: true })
  const { metafile } = await build({
    entryPoints: { app: join(source, 'main.tsx'), style: join(source, 'style.css') },
    outdir: folder,
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    splitting: true,
    format: 'esm',
    metafile: true,
    ...common,
  })
  const names = Object.keys(metafile.outputs).map((path) => basename(path))
  const nameOf = (pattern) => names.find((name) => pattern.test(name))
  const page = readFileSync(join(source, 'index.html'), 'utf8')
  const linked = page.replace('main.tsx', nameOf(/^app-.*\.js$/)).replace('style.css', nameOf(/^style-.*\.css$/))
  writeFileSync(join(folder, 'index.html'), linked)
  for (const name of readdirSync(folder)) writeFileSync(join(folder, `${name}.br`), compressed(readFileSync(join(folder, name))))
  writeFileSync(join(dirname(folder), 'trace.html'), await offlinePage())
  writeFileSync(join(dirname(folder), consoleSourcesFile), JSON.stringify(Object.keys(metafile.inputs)))
}

/** A page in one file. Browsers load no modules from a disk, so script and style are inline, and its policy allows only these. */
async function offlinePage() {
  const [script, style] = await Promise.all(
    ['offline.tsx', 'style.css'].map(async (name) => {
      const { outputFiles } = await build({ entryPoints: [join(source, name)], outdir: source, format: 'iife', write: false, ...common })
      return outputFiles[0].text.trim()
    }),
  )
  const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  const rules = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]
  const parts = { POLICY: rules.join('; '), '/*STYLE*/': style, '/*SCRIPT*/': script }
  return readFileSync(join(source, 'offline.html'), 'utf8').replace(/POLICY|\/\*(?:STYLE|SCRIPT)\*\//g, (name) => parts[name])
}

function compressed(bytes) {
  return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } })
}
