/** Entry of the thread of texts; see `TextThread`. */
import { parentPort } from 'node:worker_threads'
import { doJob } from './do-job.ts'
import type { ThreadAnswer, ThreadJob } from './jobs.ts'

parentPort?.on('message', async (job: ThreadJob) => {
  const answer = await answerTo(job)
  parentPort?.postMessage(answer, [...new Set(bytesIn(answer).flatMap(movable))])
})

function bytesIn(answer: ThreadAnswer): (Uint8Array | undefined)[] {
  switch (answer.kind) {
    case 'readOpenApi':
      return [answer.part.bytes, answer.part.facts, answer.as3?.bytes]
    case 'joinOpenApi':
      return [answer.paths, answer.definitions, answer.encoded]
    default:
      return 'bytes' in answer ? [answer.bytes] : []
  }
}

/** Bytes in a separate buffer need not be copied. */
function movable(bytes: Uint8Array | undefined): ArrayBuffer[] {
  return bytes?.buffer instanceof ArrayBuffer && bytes.buffer.byteLength === bytes.byteLength ? [bytes.buffer] : []
}

/** The module with all types is loaded with its first job. */
async function answerTo(job: ThreadJob): Promise<ThreadAnswer> {
  try {
    switch (job.kind) {
      case 'auditBody':
        return (await import('./read-body.ts')).doAuditBodyJob(job)
      case 'readOpenApi':
        return (await import('./openapi-jobs.ts')).readOpenApi(job)
      case 'joinOpenApi':
        return (await import('./openapi-jobs.ts')).joinOpenApi(job)
      default:
        return doJob(job)
    }
  } catch (error) {
    return { kind: 'failed', error }
  }
}
