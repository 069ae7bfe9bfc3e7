import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { start } from 'orch'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { installPackage } from '../package/installed-package.ts'
import { findProgram, withoutPrograms } from '../programs.ts'

const run = promisify(execFile)
const folder = import.meta.dirname
const levels = [31, 34, 37] as const

/** The output of a program, whether it ends well or not. */
async function outputOf(program: string, args: readonly string[], env: NodeJS.ProcessEnv, cwd: string): Promise<string> {
  const sent = { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 }
  return run(program, args, sent).then(
    ({ stdout }) => stdout,
    (error) => `${error.stdout}\n${error.stderr}\n${error.message}`,
  )
}

function temporary(): string {
  const made = mkdtempSync(join(tmpdir(), 'clients-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

describe.skipIf(findProgram('go') === undefined)(`client-go and controller-runtime${withoutPrograms('go')}`, () => {
  const steps = ['TestOperator/Typed', 'TestOperator/Watch', 'TestOperator/Apply', 'TestOperator/Operator', 'TestOperator']
  let compiled = ''
  beforeAll(async () => {
    compiled = join(mkdtempSync(join(tmpdir(), 'clients-go-')), 'operator.test')
    await run('go', ['test', '-c', '-o', compiled, '.'], { cwd: join(folder, 'go') })
  })

  test.each(levels)('an operator with webhooks runs in envtest at 1.%i', async (level) => {
    const { project, bin } = await installPackage()
    const assets = await run(process.execPath, [
      bin,
      'envtest-assets',
      'use',
      `1.${level}.x`,
      '--bin-dir',
      join(project, 'bin'),
      '-p',
      'path',
    ])
    const env = { KUBEBUILDER_ASSETS: assets.stdout.trim(), CLIENTS_LEVEL: String(level) }
    const output = await outputOf(compiled, ['-test.v'], env, temporary())
    const passed = [...output.matchAll(/^\s*--- PASS: (\S+)/gm)].map(([, name]) => name)
    expect({ passed: passed.toSorted(), output }).toEqual({ passed: steps.toSorted(), output })
  })
})

describe.skipIf(findProgram('python3') === undefined)(`python${withoutPrograms('python3')}`, () => {
  let python = ''
  beforeAll(async () => {
    const environment = mkdtempSync(join(tmpdir(), 'clients-python-'))
    await run('python3', ['-m', 'venv', environment])
    python = join(environment, 'bin/python')
    await run(python, ['-m', 'pip', 'install', '--quiet', '-r', join(folder, 'python/requirements.txt')])
  })

  test.each(levels)('the client and an operator of kopf work at 1.%i', async (level) => {
    const server = await start({ profile: 'kubernetes', version: `1.${level}` })
    const own = temporary()
    try {
      const kubeconfig = join(own, 'kubeconfig')
      writeFileSync(kubeconfig, server.kubeconfig, { mode: 0o600 })
      cpSync(join(folder, 'python/course.py'), join(own, 'course.py'))
      const output = await outputOf(python, ['course.py'], { KUBECONFIG: kubeconfig, LEVEL: String(level) }, own)
      const passed = [...output.matchAll(/^ok (\S+)$/gm)].map(([, name]) => name)
      expect({ passed, output }).toEqual({ passed: ['typed', 'watch', 'apply', 'leader', 'operator'], output })
    } finally {
      await server.stop()
    }
  })
})
