import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { RunningServer } from '../start/running-server.ts'

/** A failed test. */
export interface FailedTest {
  readonly name: string
  readonly failure: unknown
}

/**
 * Leaves a trace of a failed test, where the environment variable ORCH_TRACE names a folder: a file with the name of the test.
 * ORCH_TRACE_SECRETS=true leaves the values of Secrets in it. A trace that cannot be written hides no failure: it is said on stderr.
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
