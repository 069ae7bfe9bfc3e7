/** Entry of the thread of texts; see `TextThread`. */
import { parentPort } from 'node:worker_threads'
import { doJob } from './do-job.ts'
import type { TextJob } from './jobs.ts'

parentPort?.on('message', (job: TextJob) => {
  const answer = doJob(job)
  const moved = 'bytes' in answer ? [answer.bytes.buffer as ArrayBuffer] : []
  parentPort?.postMessage(answer, moved)
})
