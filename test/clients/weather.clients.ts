import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type RunningServer, start } from 'orch'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { explore } from '../../services/orch/src/start/explore/explore.ts'
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
async function outputOf(program: string, args: readonly string[], cwd: string, rest: NodeJS.ProcessEnv = {}): Promise<string> {
  const env = { ...process.env, ORCH_CONTROL: control, ...rest }
  return run(program, args, { cwd, env }).then(
    ({ stdout, stderr }) => `${stdout}${stderr}`,
    (error) => `${error.stdout}\n${error.stderr}\n${error.message}`,
  )
}

/** The tests of `examples/weather/go`, compiled once. */
async function compiledInGo(): Promise<string> {
  const compiled = join(folder, 'weather.test')
  if (!existsSync(compiled)) await run('go', ['test', '-c', '-o', compiled, '.'], { cwd: join(examples, 'go') })
  return compiled
}

test.skipIf(findProgram('go') === undefined)(
  `four weathers find incorrect controllers of client-go, and no correct one${withoutPrograms('go')}`,
  async () => {
    const output = await outputOf(await compiledInGo(), ['-test.v', '-test.run=^TestWeather$'], folder)
    const passed = [...output.matchAll(/^\s*--- PASS: (\S+)/gm)].map(([, name]) => name)
    const weathers = ['LostReply', 'Conflicts', 'FailedList', 'OldCache'].map((name) => `TestWeather/${name}`)
    expect({ passed, output }).toEqual({ passed: ['TestWeather', ...weathers], output })
  },
)

test.skipIf(findProgram('go') === undefined).each([
  ['a second child after a lost reply', 'Create', /^a lost reply, at request /],
  ['a child too few after a scale-down by an old cache', 'ScaleDown', /^a cache that is old from request /],
])(`explore finds in a controller of client-go, without a hint, %s${withoutPrograms('go')}`, async (_what, name, fault) => {
  const compiled = await compiledInGo()
  const passes = async (form: string, exploration: string) => {
    const words = ['-test.v', `-test.run=^TestExplored$/^${name}$/^${form}$`]
    const output = await outputOf(compiled, words, folder, { ORCH_EXPLORE: exploration })
    expect(output).toContain(`=== RUN   TestExplored/${name}/${form}`)
    return /^PASS$/m.test(output)
  }
  expect(await passes('bad', '')).toBe(true)
  const failure = await explore({ first: 1, last: 50 }, (exploration) => passes('bad', exploration))
  expect(failure).toMatchObject({ faults: [expect.stringMatching(fault)], isRepeatable: true })
  process.stdout.write(`${name}: seed ${failure?.seed}, ${failure?.faults.join('; ')}\n`)
  expect(await passes('bad', failure?.exploration ?? '')).toBe(false)
  expect(await passes('good', failure?.exploration ?? '')).toBe(true)
})

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
