import { type RunningServer, start } from '../start/start.ts'
import type { StartOptions } from '../start/start-settings.ts'

/** The hooks of a test framework, such as vitest and jest. */
export interface TestHooks {
  beforeAll(hook: () => Promise<void>): void
  beforeEach(hook: () => Promise<void>): void
  afterAll(hook: () => Promise<void>): void
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
    hooks.afterAll(async () => {
      await stopStarted(starting)
      server = undefined
    })
    const running = () => {
      if (server === undefined) throw new Error('useServer(): the server runs in hooks and tests alone; read its members there')
      return server
    }
    return {
      get url() {
        return running().url
      },
      get kubeconfig() {
        return running().kubeconfig
      },
      get client() {
        return running().client
      },
      get nodes() {
        return running().nodes
      },
      get requests() {
        return running().requests
      },
      get faults() {
        return running().faults
      },
      get control() {
        return running().control
      },
      console: () => running().console(),
      user: (name, options) => running().user(name, options),
      at: (moment) => running().at(moment),
      timeline: (reference, options) => running().timeline(reference, options),
      diff: (from, to) => running().diff(from, to),
      reset: () => running().reset(),
      snapshot: () => running().snapshot(),
      restore: (snapshot) => running().restore(snapshot),
      fork: (options) => running().fork(options),
      load: (paths, options) => running().load(paths, options),
      install: (paths) => running().install(paths),
      webhookEndpoint: (target) => running().webhookEndpoint(target),
      scheduler: { explain: (pod) => running().scheduler.explain(pod) },
      get metrics() {
        return running().metrics
      },
      settled: (options) => running().settled(options),
      track: (work, name) => running().track(work, name),
      expectNoHotLoop: (options) => running().expectNoHotLoop(options),
      eventually: (reference, matcher, options) => running().eventually(reference, matcher, options),
      leaks: () => running().leaks(),
      dump: () => running().dump(),
      saveTrace: (path, options) => running().saveTrace(path, options),
      stop: () => running().stop(),
      [Symbol.asyncDispose]: () => running().stop(),
    }
  }
}

/** Stops a server that may still be starting: a framework continues after the timeout of a hook, and would not end while the server runs. */
export async function stopStarted(starting: Promise<RunningServer> | undefined): Promise<void> {
  const [started] = await Promise.allSettled([starting])
  if (started.status === 'fulfilled') await started.value?.stop()
}
