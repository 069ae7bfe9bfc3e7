import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type RunningServer, start } from 'orch'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findProgram, withoutPrograms } from '../programs.ts'

const run = promisify(execFile)
const examples = join(import.meta.dirname, '../../examples/weather')
let server: RunningServer
let folder = ''
let control = ''

beforeAll(async () => {
  server = await start({ profile: 'kubernetes', seed: 7, control: true })
  folder = mkdtempSync(join(tmpdir(), 'clients-weather-'))
  control = join(folder, 'control.json')
  writeFileSync(control, JSON.stringify(server.control), { mode: 0o600 })
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** The output of a program that controls the server, whatever its exit code. */
async function outputOf(program: string, args: readonly string[], cwd: string): Promise<string> {
  const env = { ...process.env, ORCH_CONTROL: control }
  return run(program, args, { cwd, env }).then(
    ({ stdout, stderr }) => `${stdout}${stderr}`,
    (error) => `${error.stdout}\n${error.stderr}\n${error.message}`,
  )
}

test.skipIf(findProgram('go') === undefined)(
  `four weathers find incorrect controllers of client-go, and no correct one${withoutPrograms('go')}`,
  async () => {
    const compiled = join(folder, 'weather.test')
    await run('go', ['test', '-c', '-o', compiled, '.'], { cwd: join(examples, 'go') })
    const output = await outputOf(compiled, ['-test.v'], folder)
    const passed = [...output.matchAll(/^\s*--- PASS: (\S+)/gm)].map(([, name]) => name)
    const weathers = ['LostReply', 'Conflicts', 'FailedList', 'OldCache'].map((name) => `TestWeather/${name}`)
    expect({ passed, output }).toEqual({ passed: ['TestWeather', ...weathers], output })
  },
)

test.skipIf(findProgram('python3') === undefined)(
  `a lost reply finds an incorrect controller in Python, and passes the correct one${withoutPrograms('python3')}`,
  async () => {
    await run('python3', ['-m', 'venv', join(folder, 'environment')])
    const python = join(folder, 'environment/bin/python')
    await run(python, ['-m', 'pip', 'install', '--quiet', '-r', join(import.meta.dirname, 'python/requirements.txt')])
    const own = join(folder, 'python')
    cpSync(join(examples, 'python'), own, { recursive: true })
    expect(await outputOf(python, ['-m', 'unittest', '-v', 'test_weather'], own)).toMatch(/\nOK\s*$/)
  },
)

test.skipIf(findProgram('java') === undefined)(`a program in Java forks the server and adds faults${withoutPrograms('java')}`, async () => {
  const output = await outputOf('java', [join(examples, 'java/src/main/java/OrchControl.java'), control], folder)
  expect(output).toBe('ok fork true\nok base true\n')
})

test.skipIf(findProgram('java') === undefined || findProgram('mvn') === undefined)(
  `a lost reply finds an incorrect controller with the client of fabric8, by a JUnit extension${withoutPrograms('java', 'mvn')}`,
  async () => {
    const own = join(folder, 'java')
    cpSync(join(examples, 'java'), own, { recursive: true })
    const output = await outputOf('mvn', ['-B', 'test'], own)
    expect(output).toContain('Tests run: 3, Failures: 0, Errors: 0, Skipped: 0')
  },
)

test.skipIf(findProgram('cargo') === undefined)(
  `a lost reply finds an incorrect controller with kube-rs, and passes the correct one${withoutPrograms('cargo')}`,
  async () => {
    const target = join(import.meta.dirname, '../../.cache/clients-rust')
    const output = await outputOf('cargo', ['test', '--quiet', '--locked', '--target-dir', target], join(examples, 'rust'))
    expect(output).toContain('test result: ok. 3 passed; 0 failed')
  },
)
