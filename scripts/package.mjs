/**
 * The package for other projects, ready to publish: the server in few files, its declarations in one, and the entries for `require`, for test frameworks
 * and for the command. `npm run package` writes it and prints its place; `npm run package -- <folder>` writes it to that folder.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { build, transform } from 'esbuild'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'
import { installPnpm, packageFolders } from './bootstrap.mjs'
import { bundleEntry, bundleOptions } from './bundle.mjs'
import { consoleSourcesFile } from './bundle-console.mjs'
import { bundleOpenApi } from './bundle-openapi.mjs'
import { originOf, repositoryOf } from './repository.mjs'
import { root } from './root.mjs'

const source = join(root, 'services/orch')

/** The bundle of the server, whose console is that of the package. */
const bundled = dirname(bundleEntry)

/** The folder that is packed. */
const packageFolder = resolve(process.argv[2] ?? join(source, 'dist/package'))

/** Compiled modules that become files of the package, by the name of the file. */
const modules = {
  main: 'services/orch/dist/main.js',
  'api-server': 'services/orch/dist/envtest/api-server-main.js',
  etcd: 'services/orch/dist/envtest/etcd-main.js',
  thread: 'services/gateway/dist/texts/thread.js',
  'gateway-thread': 'services/orch/dist/threads/gateway-thread.js',
  index: 'services/orch/dist/index.js',
  testing: 'services/orch/dist/testing/index.js',
  controllers: 'services/orch/dist/controller-kit/index.js',
}

/** Modules whose types can be imported. */
const declared = ['index', 'testing', 'controllers']

/** Installed with the package, as they contain parts other than JavaScript, or files that they read. */
const installed = ['@grpc/grpc-js', 'etcd3', 'lmdb']

/** Dependencies of the testing project. */
const peers = { vitest: '>=3' }

/** Writes the package again from the compiled files and the bundle. */
async function writePackage() {
  const dist = join(packageFolder, 'dist')
  rmSync(packageFolder, { recursive: true, force: true })
  mkdirSync(dist, { recursive: true })
  const { metafile } = await build({
    ...bundleOptions,
    entryPoints: Object.fromEntries(Object.entries(modules).map(([name, file]) => [name, join(root, file)])),
    outdir: dist,
    external: installed,
    legalComments: 'none',
    metafile: true,
  })
  await joinFiles(dist, metafile)
  for (const name of ['console', 'trace.html']) cpSync(join(bundled, name), join(dist, name), { recursive: true })
  const consoleSources = JSON.parse(readFileSync(join(bundled, consoleSourcesFile), 'utf8'))
  // Clients that request documents at once, such as kubectl, use the names of Kubernetes; the documents of the other profile would add 0.4 MB.
  await bundleOpenApi(join(dist, 'openapi'), ['kubernetes'])
  await writeDeclarations(dist)
  cpSync(join(source, 'package'), packageFolder, { recursive: true })
  for (const file of ['LICENSE', 'CHANGELOG.md']) cpSync(join(root, file), join(packageFolder, file))
  writeFileSync(join(packageFolder, 'THIRD-PARTY-LICENSES'), licencesOf([...Object.keys(metafile.inputs), ...consoleSources]))
  writeFileSync(join(packageFolder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
  await writeSbom()
}

/**
 * Joins the hundreds of files that a test imports, as Node takes longer to find them than to read them. Files that each command reads, and those of
 * `orchctl`, are joined apart, so that these commands read no server.
 */
async function joinFiles(dist, { outputs }) {
  const importsOf = (file, wanted) =>
    outputs[relative('.', file)].imports.flatMap(({ path, kind, external }) => (kind === wanted && !external ? [resolve(path)] : []))
  const reached = (files, found = new Set(files)) => {
    for (const file of found) for (const one of importsOf(file, 'import-statement')) found.add(one)
    return found
  }
  const fileOf = (name) => join(dist, `${name}.js`)
  const entries = Object.keys(modules).map(fileOf)
  const command = importsOf(fileOf('main'), 'dynamic-import')
  const control = command.flatMap((file) => importsOf(file, 'dynamic-import')).filter((file) => basename(file).startsWith('ctl-'))
  const client = [...reached(control)].flatMap((file) => [file, ...importsOf(file, 'dynamic-import')])
  // Programs begin with little code, which loads the compile cache.
  const programs = ['main', 'api-server', 'etcd'].map(fileOf)
  const controllers = [fileOf('controllers')]
  const server = reached([fileOf('index')])
  const groups = Object.entries({ programs, command, client, controllers, server }).map(([name, files]) => {
    const members = reached(files).intersection(server).difference(new Set(entries))
    return { name, test: (file) => members.has(file) }
  })
  const joined = await rolldown({ input: entries, external: [/^node:/, ...installed], platform: 'node', treeshake: false })
  const { output } = await joined.generate({ format: 'es', chunkFileNames: '[name].js', codeSplitting: { groups } })
  await joined.close()
  for (const file of Object.keys(outputs)) rmSync(file)
  const minified = { minifySyntax: true, minifyWhitespace: true, target: bundleOptions.target }
  for (const { fileName, code } of output) writeFileSync(join(dist, fileName), (await transform(code, minified)).code)
}

/** One file of types per module, without references to the workspace, and a copy for `require`. */
async function writeDeclarations(dist) {
  const bundle = await rolldown({
    input: Object.fromEntries(declared.map((name) => [name, join(root, modules[name].replace(/\.js$/, '.d.ts'))])),
    external: [/^node:/, 'lmdb'],
    plugins: [dts({ dtsInput: true, sourcemap: false })],
    logLevel: 'warn',
    checks: { pluginTimings: false },
  })
  await bundle.write({ dir: dist, format: 'es', chunkFileNames: 'types-[hash].d.ts' })
  await bundle.close()
  for (const file of readdirSync(dist).filter((name) => name.endsWith('.d.ts'))) {
    const text = readFileSync(join(dist, file), 'utf8').replaceAll(/(from "\.\/[^"]+)\.js"/g, '$1.cjs"')
    writeFileSync(join(dist, file.replace(/\.d\.ts$/, '.d.cts')), text)
  }
}

function manifest() {
  const own = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
  const project = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const repository = repositoryOf({ manifest: project.repository, env: process.env, origin: originOf(root) })
  return {
    name: own.name,
    version: own.version,
    description: project.description,
    keywords: ['kubernetes', 'api-server', 'kube-apiserver', 'testing', 'envtest', 'controllers', 'custom-resources'],
    license: own.license,
    ...(repository === undefined ? {} : { repository }),
    type: 'module',
    // Without `./`, as npm omits a command with it when it publishes.
    bin: { orch: 'bin.cjs', orchctl: 'orchctl.cjs' },
    exports: {
      '.': {
        import: { types: './dist/index.d.ts', default: './index.js' },
        require: { types: './dist/index.d.cts', default: './index.cjs' },
      },
      './controllers': {
        import: { types: './dist/controllers.d.ts', default: './controllers.js' },
        require: { types: './dist/controllers.d.cts', default: './controllers.cjs' },
      },
      './vitest': { types: './vitest.d.ts', default: './vitest.js' },
      './vitest/global-setup': { types: './vitest-global-setup.d.ts', default: './vitest-global-setup.js' },
      './jest': { types: './jest.d.cts', default: './jest.cjs' },
      './jest/global-setup': { types: './jest-global-setup.d.cts', default: './jest-global-setup.cjs' },
      './jest/global-teardown': { types: './jest-global-teardown.d.cts', default: './jest-global-teardown.cjs' },
      './node-test': { types: './node-test.d.cts', default: './node-test.cjs' },
      './package.json': './package.json',
    },
    engines: { node: '^22.19.0 || ^24.0.0 || >=26.0.0' },
    dependencies: Object.fromEntries(installed.map((name) => [name, versionOf(name)])),
    peerDependencies: peers,
    peerDependenciesMeta: Object.fromEntries(Object.keys(peers).map((name) => [name, { optional: true }])),
    publishConfig: { access: 'public', provenance: true },
  }
}

/** The version that the workspace uses. */
function versionOf(name) {
  for (const folder of packageFolders()) {
    const { dependencies = {} } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
    if (dependencies[name] !== undefined) return dependencies[name]
  }
  throw new Error(`no package of the workspace depends on ${name}`)
}

/** The licences of the packages whose code is in the bundle. */
function licencesOf(files) {
  const folders = new Set(files.flatMap((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []))
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
    const file = readdirSync(join(root, folder)).find((entry) => /^licen[cs]e(\.(md|txt))?$/i.test(entry))
    const text = file === undefined ? '' : readFileSync(join(root, folder, file), 'utf8').trim()
    return { title: `${name} ${version} (${license})`, text }
  })
  const byText = Map.groupBy(texts, ({ text }) => text)
  return [...byText]
    .map(([text, packages]) => `${[...new Set(packages.map(({ title }) => title))].join('\n')}\n\n${text}\n`)
    .join(`\n${'-'.repeat(80)}\n\n`)
}

/** Writes the contents of the package as CycloneDX, from the lockfile. */
async function writeSbom() {
  const file = join(packageFolder, 'sbom.cdx.json')
  const flags = ['--sbom-format=cyclonedx', '--sbom-spec-version=1.6', '--lockfile-only', '--prod', '--filter=orch', `--out=${file}`]
  const { status, stderr } = spawnSync(process.execPath, [await installPnpm(), 'sbom', ...flags], { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`the list of components could not be made: ${stderr}`)
}

await writePackage()
process.stdout.write(`${packageFolder}\n`)
