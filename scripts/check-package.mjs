/**
 * Findings of publint and are-the-types-wrong in the packed package, and npm's corrections and warnings on publishing, for `npm run lint`. Takes the
 * folder of a package, or writes this project's package to a temporary folder; packs it, prints the findings, and exits with 1 if there are any. Needs
 * no network.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { findNpm } from './bootstrap.mjs'
import { root } from './root.mjs'

/** One sentence for each fault of a packed package. */
async function checkTarball(tarball) {
  const data = new Uint8Array(readFileSync(tarball))
  const { messages, pkg } = await publint({ strict: true, pack: { tarball: data.slice().buffer } })
  const analysis = await checkPackage(createPackageFromTarballData(data))
  const problems = analysis.types === false ? [{ kind: 'NoTypes' }] : analysis.problems.filter((problem) => !isMeant(problem))
  return [
    ...messages.map((message) => `publint: ${formatMessage(message, pkg, { color: false })}`),
    ...problems.map((problem) => `are-the-types-wrong: ${describe(problem)}`),
  ]
}

/** `orch/vitest` is only for modules, like vitest, and the resolution of Node 10 does not support exports. */
function isMeant({ resolutionKind, entrypoint = '' }) {
  return resolutionKind === 'node10' || entrypoint.startsWith('./vitest')
}

/** `FalseESM: entrypoint ., resolutionKind node16-cjs`. */
function describe({ kind, ...rest }) {
  const words = Object.entries(rest).filter(([, value]) => typeof value === 'string')
  return words.length === 0 ? kind : `${kind}: ${words.map(([name, value]) => `${name} ${value}`).join(', ')}`
}

/** The folder of this project's package, created from the compiled files. */
function writePackageTo(folder) {
  runOrThrow(process.execPath, [join(root, 'scripts/package.mjs'), folder])
  return folder
}

/** npm's warnings on publishing: fields that it would change or leave out. A dry run sends no request to a registry. */
function publishWarnings(written) {
  const { stderr } = runNpm(['publish', '--dry-run', '--ignore-scripts', '--registry=http://127.0.0.1:9', '--fetch-retries=0'], written)
  return stderr
    .split('\n')
    .flatMap((line) => /^npm warn publish (.*)/i.exec(line)?.[1] ?? [])
    .filter((text) => !text.includes('requires you to be logged in'))
}

/** Packs the package into the folder. Returns the file. */
function packInto(folder, written) {
  const { stdout } = runNpm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], written)
  return join(folder, JSON.parse(stdout)[0].filename)
}

function runNpm(args, cwd) {
  const npm = findNpm()
  return runOrThrow(npm.command, [...npm.args, ...args], cwd)
}

function runOrThrow(command, args, cwd = root) {
  const ran = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (ran.status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${ran.error?.message ?? ran.stderr}`)
  return ran
}

async function main(given) {
  const folder = mkdtempSync(join(tmpdir(), 'package-'))
  try {
    const written = given ?? writePackageTo(join(folder, 'package'))
    const warnings = publishWarnings(written).map((text) => `npm publish: ${text}`)
    const found = [...(await checkTarball(packInto(folder, written))), ...warnings]
    for (const fault of found) process.stderr.write(`the packed package: ${fault}\n`)
    if (found.length === 0) process.stdout.write('publint, are-the-types-wrong and npm publish find nothing in the packed package.\n')
    return found.length === 0 ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

process.exitCode = await main(process.argv[2])
