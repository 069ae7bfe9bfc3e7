/** Entry of the thread of texts; see `TextThread`. */
import { parentPort } from 'node:worker_threads'
import { doJob } from './do-job.ts'
import type { ThreadAnswer, ThreadJob } from './jobs.ts'

parentPort?.on('message', async (job: ThreadJob) => {
  const answer = await answerTo(job)
  const moved = 'bytes' in answer && answer.bytes !== undefined ? [answer.bytes.buffer as ArrayBuffer] : []
  parentPort?.postMessage(answer, moved)
})

/** What audit needs knows all types, and is loaded with its first body. */
async function answerTo(job: ThreadJob): Promise<ThreadAnswer> {
  if (job.kind !== 'auditBody') return doJob(job)
  try {
    const { doAuditBodyJob } = await import('../audit/read-body-job.ts')
    return doAuditBodyJob(job)
  } catch (error) {
    return { kind: 'failed', error }
  }
}
