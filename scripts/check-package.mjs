/**
 * What publint and are-the-types-wrong find in the packed package, for `npm run lint`: entries that are missing, and types that do not fit
 * the code beside them. Writes and packs it in a temporary folder, or takes the file that is named, prints what is wrong, and ends with 1
 * where there is something. Needs no network.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { findNpm, root } from './bootstrap.mjs'

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

/** `orch/vitest` is for modules alone, as vitest is, and the resolution of Node 10 knows no exports. */
function isMeant({ resolutionKind, entrypoint = '' }) {
  return resolutionKind === 'node10' || entrypoint.startsWith('./vitest')
}

/** `FalseESM: entrypoint ., resolutionKind node16-cjs`. */
function describe({ kind, ...rest }) {
  const words = Object.entries(rest).filter(([, value]) => typeof value === 'string')
  return words.length === 0 ? kind : `${kind}: ${words.map(([name, value]) => `${name} ${value}`).join(', ')}`
}

/** Writes the package from what is compiled, and packs it into the folder; returns the file. */
function packInto(folder) {
  const written = join(folder, 'package')
  runOrThrow(process.execPath, [join(root, 'scripts/package.mjs'), written])
  const npm = findNpm()
  const packed = runOrThrow(npm.command, [...npm.args, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder, written])
  return join(folder, JSON.parse(packed)[0].filename)
}

function runOrThrow(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? stderr}`)
  return stdout
}

async function main(tarball) {
  const folder = mkdtempSync(join(tmpdir(), 'package-'))
  try {
    const found = await checkTarball(tarball ?? packInto(folder))
    for (const fault of found) process.stderr.write(`the packed package: ${fault}\n`)
    if (found.length === 0) process.stdout.write('publint and are-the-types-wrong find nothing in the packed package.\n')
    return found.length === 0 ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

process.exitCode = await main(process.argv[2])
