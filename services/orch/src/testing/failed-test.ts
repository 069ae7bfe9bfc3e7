import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { RunningServer } from '../start/running-server.ts'

/** A failed test. */
export interface FailedTest {
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
