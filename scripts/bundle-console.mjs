/** Makes the files of the console, which the server sends to browsers, from `console/src`. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { build } from 'esbuild'
import { root } from './root.mjs'

const source = join(root, 'console/src')

/** Writes the files into a folder. Gives what the bundler read, for the list of licences. */
export async function bundleConsole(folder) {
  mkdirSync(folder, { recursive: true })
  const { metafile } = await build({
    entryPoints: { app: join(source, 'main.tsx'), style: join(source, 'style.css') },
    outdir: folder,
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome120', 'firefox121', 'safari17.4'],
    conditions: ['source'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    legalComments: 'none',
    logLevel: 'error',
    metafile: true,
  })
  const names = Object.keys(metafile.outputs).map((path) => basename(path))
  const nameOf = (pattern) => names.find((name) => pattern.test(name))
  const page = readFileSync(join(source, 'index.html'), 'utf8')
  const linked = page.replace('main.tsx', nameOf(/^app-.*\.js$/)).replace('style.css', nameOf(/^style-.*\.css$/))
  writeFileSync(join(folder, 'index.html'), linked)
  for (const name of readdirSync(folder)) writeFileSync(join(folder, `${name}.br`), compressed(readFileSync(join(folder, name))))
  return metafile
}

function compressed(bytes) {
  return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } })
}
