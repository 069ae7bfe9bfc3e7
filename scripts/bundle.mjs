/**
 * Bundles the compiled server into few files, so that it starts in a fraction of the time that hundreds of modules take. Packages with parts other than
 * JavaScript stay outside and are imported from their installation.
 */
import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { bundleConsole } from './bundle-console.mjs'
import { bundleOpenApi } from './bundle-openapi.mjs'
import { root } from './root.mjs'

const source = join(root, 'services/orch/dist/main.js')
/** Entry of the gateway's thread, next to the file that starts it. */
const threadSource = join(root, 'services/gateway/dist/texts/thread.js')
/** Entry of further serving threads, next to the same file. */
const gatewayThreadSource = join(root, 'services/orch/dist/threads/gateway-thread.js')
const bundleFolder = join(root, 'services/orch/dist/bundle')

/** The entry point of the bundled server. */
export const bundleEntry = join(bundleFolder, 'main.js')

/** Packages that load native code or start workers from files of their own. */
const outside = /^(lmdb|etcd3|@grpc\/grpc-js)$/

const stayOutside = {
  name: 'stay-outside',
  setup({ onResolve, resolve }) {
    onResolve({ filter: outside }, async ({ path, resolveDir, importer, kind, pluginData }) => {
      if (pluginData === stayOutside) return undefined
      const found = await resolve(path, { resolveDir, importer, kind, pluginData: stayOutside })
      return { path: relative(bundleFolder, found.path), external: true }
    })
  },
}

/**
 * `import` of `node:http` reads all its exports, and Node loads its fetch client for some of them: 18 ms of each start that no server needs. This form
 * reads only the used exports.
 */
const withoutFetch = {
  name: 'without-fetch',
  setup({ onResolve, onLoad }) {
    // An `import()` returns an object with all exports, which this form lacks; such code is loaded later, if at all.
    onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
      kind === 'import-statement' ? { path: 'http', namespace: 'without-fetch' } : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'without-fetch' }, () => ({ contents: "module.exports = process.getBuiltinModule('node:http')" }))
  },
}

/** Puts the levels of all types into the bundle: a server that computes them describes hundreds of types at its first request. */
const withLevels = {
  name: 'with-levels',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]core[\\/]dist[\\/]schema[\\/]preset-levels\.js$/ }, async () => {
      const { levelsOfAllTypes } = await import(new URL('../shared/core/dist/schema/resolve.js', import.meta.url).href)
      return { contents: `export const presetLevels = JSON.parse(${JSON.stringify(JSON.stringify(levelsOfAllTypes()))})` }
    })
  },
}

/**
 * Imports each name from the file that declares it, instead of from the `index.js` of its package. With the index, an entry that uses one file of a package
 * would load every file that any other entry uses: a server without nodes would load the rules of workloads and of the scheduler.
 */
const pastIndexes = {
  name: 'past-indexes',
  setup({ onLoad, resolve }) {
    const indexes = new Map()
    const filesOf = async (path, resolveDir) => {
      const { path: index } = await resolve(path, { resolveDir, kind: 'import-statement' })
      if (!indexes.has(index)) indexes.set(index, readIndex(index))
      return indexes.get(index)
    }
    onLoad({ filter: /[\\/](services|shared)[\\/]\w+[\\/]dist[\\/].*\.js$/ }, async ({ path }) => {
      const resolveDir = dirname(path)
      let contents = readFileSync(path, 'utf8')
      for (const [statement, names, from] of contents.matchAll(/^import \{ ([^}]*) \} from '(@orch\/[^']+|\.[^']*\/index\.js)';$/gm)) {
        const files = await filesOf(from, resolveDir)
        const direct = namesIn(names).map((name) => `import { ${name} } from ${JSON.stringify(files.get(name.split(' as ')[0]) ?? from)};`)
        contents = contents.replace(statement, () => direct.join(' '))
      }
      return { contents, resolveDir }
    })
  },
}

/** The declaring file of each name that an index exports. The index itself may declare some. */
function readIndex(index) {
  const files = new Map()
  const text = readFileSync(index, 'utf8')
  for (const [, name] of text.matchAll(/^export (?:async )?(?:function\*?|class|const|let) (\w+)/gm)) files.set(name, index)
  for (const [, names, from] of text.matchAll(/^export (?:\{ ([^}]*) \}|\*) from '(\.[^']+)';$/gm)) {
    const file = join(dirname(index), from)
    if (names === undefined) for (const [name, declared] of readIndex(file)) files.set(name, declared)
    else for (const name of namesIn(names)) if (!name.includes(' as ')) files.set(name, file)
  }
  return files
}

/** Splits a list of names: `a, b as c, ` gives `a` and `b as c`. */
const namesIn = (names) => names.split(/,\s*/).filter((name) => name !== '')

/** CommonJS packages ask for `require`, which modules do not have. */
const banner =
  "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);"

/** Writes the bundle again. The old bundle stays until the new one is complete. */
async function bundle() {
  const nextFolder = `${bundleFolder}.${process.pid}`
  try {
    await write(nextFolder)
    rmSync(bundleFolder, { recursive: true, force: true })
    renameSync(nextFolder, bundleFolder)
  } catch (error) {
    // Another process has written a bundle meanwhile, from the same sources.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
  } finally {
    rmSync(nextFolder, { recursive: true, force: true })
  }
}

/** Options of the bundler. */
export const bundleOptions = {
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  minifySyntax: true,
  minifyWhitespace: true,
  logLevel: 'error',
  banner: { js: banner },
  plugins: [withoutFetch, withLevels, pastIndexes],
}

async function write(folder) {
  const entryPoints = { main: source, thread: threadSource, 'gateway-thread': gatewayThreadSource }
  const plugins = [...bundleOptions.plugins, stayOutside]
  await build({ ...bundleOptions, entryPoints, outdir: folder, sourcemap: 'linked', plugins })
  await bundleConsole(join(folder, 'console'))
  await bundleOpenApi(join(folder, 'openapi'), ['orch', 'kubernetes'])
  for (const file of readdirSync(folder)) if (file.endsWith('.js')) refuseWideText(join(folder, file))
}

/**
 * A character beyond Latin-1 makes V8 store the text of a whole file in two bytes a character, and read it more slowly. The bundler escapes strings;
 * literals of regular expressions have to contain `\u03bc`.
 */
function refuseWideText(file) {
  const found = /.{0,40}[^\u0000-\u00ff].{0,20}/u.exec(readFileSync(file, 'utf8'))
  if (found !== null) throw new Error(`${file}: a character beyond Latin-1 in the bundle: ${found[0]}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle()
