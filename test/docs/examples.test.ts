import { execFileSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { aFolder } from '@orch/testkit/folder'
import { start } from 'orch'
import { expect, onTestFinished, test } from 'vitest'
import { findKubectls } from '../e2e/kubectl.ts'
import { quickStart } from '../programs.ts'
import { comparable, readPage, type Typed } from './page.ts'
import { Shell } from './shell.ts'

/** Minor versions whose output the pages show: older kubectl versions lack a command, and newer versions may print other words. */
const [oldestMinor, newestMinor] = [31, 33]

/** The newest kubectl on this machine, or the reason why no kubectl fits. */
function findKubectl(): { binary: string } | { lack: string } {
  const binary = findKubectls().at(-1)
  if (binary === undefined) return { lack: 'there is no kubectl on the PATH' }
  const said = execFileSync(binary, ['version', '--client', '-o', 'json'], { encoding: 'utf8' })
  const minor = Number.parseInt(JSON.parse(said).clientVersion.minor, 10)
  const isKnown = minor >= oldestMinor && minor <= newestMinor
  return isKnown ? { binary } : { lack: `kubectl is 1.${minor}; the pages were written with 1.${oldestMinor} to 1.${newestMinor}` }
}

test.for([
  ['how-to/authorization.md', 50],
  ['reference/admission.md', 20],
] as const)(
  'the commands of docs/%s, typed in order, print the documented output',
  { timeout: 300_000 },
  async ([name, atLeast], context) => {
    const found = findKubectl()
    if ('lack' in found) return context.skip(found.lack)
    const { commands, files } = readPage(name)
    expect(commands.length).toBeGreaterThanOrEqual(atLeast)
    const shell = await aShell(found.binary, files)
    const differing: object[] = []
    for (const typed of commands) {
      const done = await shell.type(typed.command)
      if (!isAsSaid(typed, done)) differing.push({ command: typed.command, said: typed, done })
    }
    expect(differing).toEqual([])
  },
)

/** A line that ends with an ellipsis shows only its beginning. */
function isAsSaid(typed: Typed, { output, exitCode }: { output: readonly string[]; exitCode: number }): boolean {
  const [said, done] = [comparable(typed.output), comparable(output)]
  const isSame = (line: string, index: number) => (line.endsWith('…') ? done[index]?.startsWith(line.slice(0, -1)) : done[index] === line)
  return exitCode === typed.exitCode && said.length === done.length && said.every(isSame)
}

async function aShell(binary: string, files: ReadonlyMap<string, string>): Promise<Shell> {
  const server = await start({ profile: 'kubernetes', controllers: ['*'] })
  onTestFinished(() => server.stop())
  const folder = aFolder()
  for (const [file, content] of files) writeFileSync(join(folder, file), content)
  const programs = aFolder()
  symlinkSync(binary, join(programs, 'kubectl'))
  const kubeconfig = join(aFolder(), 'admin.conf')
  writeFileSync(kubeconfig, server.kubeconfig, { mode: 0o600 })
  const PATH = [programs, process.env['PATH']].join(delimiter)
  return new Shell(folder, { ...quickStart(), PATH, HOME: folder, KUBECONFIG: kubeconfig })
}
