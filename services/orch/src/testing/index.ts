/** The package's entries for test frameworks. */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type HotLoopOptions, type RunningServer, start } from '../start/start.ts'
import type { StartOptions } from '../start/start-settings.ts'

interface Outcome {
  readonly pass: boolean
  message(): string
}

/** Matchers for `expect.extend` of vitest and jest. */
export const matchers = {
  /** Passes if the test has left no open watch, no object with finalizers, no namespace and no held lease. */
  async toHaveNoLeaks(server: RunningServer): Promise<Outcome> {
    const leaks = await server.leaks()
    const message = () => (leaks.length === 0 ? 'the server has no leaks' : `the server has leaks:\n${leaks.join('\n')}`)
    return { pass: leaks.length === 0, message }
  },
  /** Passes if no client is in a loop: see `expectNoHotLoop`. */
  async toHaveNoHotLoop(server: RunningServer, options?: HotLoopOptions): Promise<Outcome> {
    try {
      await server.expectNoHotLoop(options)
    } catch (error) {
      return { pass: false, message: () => (error instanceof Error ? error.message : String(error)) }
    }
    return { pass: true, message: () => 'no client of the server is in a hot loop' }
  },
}

/** A failed test. */
interface FailedTest {
  readonly name: string
  readonly failure: unknown
}

/**
 * Writes a trace of a failed test to the folder in ORCH_TRACE, if it is set; the file has the name of the test. ORCH_TRACE_SECRETS=true includes the
 * values of Secrets. If the trace cannot be written, the reason is printed on stderr and the test's own failure is unchanged.
 */
export async function leaveTrace(server: RunningServer, { name, failure }: FailedTest, env = process.env): Promise<void> {
  const folder = env['ORCH_TRACE'] ?? ''
  if (folder === '') return
  const words = name
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 80)
  const path = join(folder, `${words}-${createHash('sha256').update(name).digest('hex').slice(0, 8)}.trace.gz`)
  try {
    await server.saveTrace(path, { test: name, failure, secrets: env['ORCH_TRACE_SECRETS'] === 'true' })
    process.stderr.write(`orch: the trace of the failed test is in ${path}; orch trace show prints it\n`)
  } catch (error) {
    process.stderr.write(`orch: the trace ${path} could not be written: ${error instanceof Error ? error.message : String(error)}\n`)
  }
}

/** The hooks of a test framework, such as vitest and jest. */
export interface TestHooks {
  beforeAll(hook: () => Promise<void>): void
  beforeEach(hook: () => Promise<void>): void
  afterAll(hook: () => Promise<void>): void
  /** Calls the hook after each failed test; absent if the framework tells its hooks of no failure. */
  afterFailed?(hook: (test: FailedTest) => Promise<void>): void
}

/**
 * A server for the tests of a file or of a `describe`: it starts before the first test, is reset before each test, and stops after the last. Its
 * members are available only in hooks and tests.
 */
export function createServerHook(hooks: TestHooks): (options?: StartOptions) => RunningServer {
  return (options) => {
    let starting: Promise<RunningServer> | undefined
    let server: RunningServer | undefined
    hooks.beforeAll(async () => {
      starting = start(options)
      server = await starting
    })
    hooks.beforeEach(async () => {
      await server?.reset()
    })
    hooks.afterFailed?.(async (test) => {
      // A test may have used another server alone.
      if (server !== undefined && server.requests.count() > 0) await leaveTrace(server, test)
    })
    hooks.afterAll(async () => {
      await stopStarted(starting)
      server = undefined
    })
    const members: RunningServer = Object.create(null)
    return new Proxy(members, {
      get(_members, name) {
        if (server === undefined) throw new Error('useServer(): the server runs in hooks and tests alone; read its members there')
        const member: unknown = Reflect.get(server, name)
        return typeof member === 'function' ? member.bind(server) : member
      },
    })
  }
}

/** Stops a server that may still be starting: a framework continues after the timeout of a hook, and would not end while the server runs. */
async function stopStarted(starting: Promise<RunningServer> | undefined): Promise<void> {
  const [started] = await Promise.allSettled([starting])
  if (started.status === 'fulfilled') await started.value?.stop()
}

/** Wraps a test body that takes a separate server as its argument. */
export type InFork = (body: (server: RunningServer) => unknown) => (...context: unknown[]) => Promise<void>

/** Prepares the base server of a file's tests. */
export type Prepare = (base: RunningServer) => unknown

/** The hooks of a test framework for forks. */
interface ForkHooks extends Pick<TestHooks, 'beforeAll' | 'afterAll'> {
  /** The name of the running test, from the arguments of its body; undefined if the framework does not tell it. */
  testName(...context: unknown[]): string | undefined
}

/**
 * A base server for the tests of a file or of a `describe`: it starts and is prepared before the first test, and stops after the last. Each test gets
 * a fork of it, so tests may run concurrently.
 */
export function createForkHook(hooks: ForkHooks): (options?: StartOptions, prepare?: Prepare) => InFork {
  return (options, prepare) => {
    let base: Promise<RunningServer> | undefined
    hooks.beforeAll(async () => {
      base = start(options)
      const started = await base
      await prepare?.(started)
    })
    hooks.afterAll(async () => {
      await stopStarted(base)
      base = undefined
    })
    // Some frameworks would pass the callback `done` to a function with a parameter.
    return (body) =>
      async (...context) => {
        if (base === undefined) throw new Error('useForks(): the base runs in tests alone')
        await using fork = await (await base).fork()
        try {
          await body(fork)
        } catch (failure) {
          await leaveTrace(fork, { name: hooks.testName(...context) ?? 'a test', failure })
          throw failure
        }
      }
  }
}

/** Ends the server of a global set-up. */
export type GlobalTeardown = () => Promise<void>

/**
 * Starts a server for a whole test run, for any number of processes. `KUBECONFIG` names a file with the administrator's client configuration until
 * the returned function is called. The default profile is `kubernetes`.
 */
export async function startGlobalServer(options: StartOptions = {}): Promise<GlobalTeardown> {
  const server = await start({ profile: 'kubernetes', ...options })
  const folder = mkdtempSync(join(tmpdir(), 'orch-kubeconfig-'))
  const file = join(folder, 'config')
  writeFileSync(file, server.kubeconfig, { mode: 0o600 })
  const before = process.env.KUBECONFIG
  process.env.KUBECONFIG = file
  return async () => {
    if (before === undefined) delete process.env.KUBECONFIG
    else process.env.KUBECONFIG = before
    rmSync(folder, { recursive: true, force: true })
    await server.stop()
  }
}
