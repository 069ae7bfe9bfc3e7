import type { JoinedOpenApi, JoinOpenApiJob, ReadOpenApiAnswer, ReadOpenApiJob } from '../texts/jobs.ts'
import { joinOpenApi, readOpenApi } from '../texts/openapi-jobs.ts'
import { TextThread } from '../texts/text-thread.ts'

/** Maximum size of documents that are parsed and printed in a few milliseconds. */
const atOnceBytesMax = 128 * 1024

/**
 * Processes OpenAPI documents of remote servers. Large ones are parsed and printed in a separate thread, so that neither the event loop nor the texts of
 * clients wait for them; the thread ends when it has no more work.
 */
export class OpenApiThread {
  #thread: TextThread | undefined
  #jobs = 0

  /** Parses a document's part of a group version. Rejects invalid JSON. */
  async read(job: ReadOpenApiJob): Promise<Exclude<ReadOpenApiAnswer, { kind: 'failed' }>> {
    const answer = job.bytes.length <= atOnceBytesMax ? readOpenApi(job) : await this.#in((thread) => thread.do(job))
    if (answer.kind === 'failed') throw answer.error
    return answer
  }

  /** A part of a document, printed for its place in a larger one. */
  async join(job: JoinOpenApiJob): Promise<JoinedOpenApi> {
    return job.bytes.length <= atOnceBytesMax ? joinOpenApi(job) : this.#in((thread) => thread.do(job))
  }

  async close(): Promise<void> {
    await this.#thread?.close()
  }

  async #in<T>(work: (thread: TextThread) => Promise<T>): Promise<T> {
    this.#thread ??= new TextThread()
    const thread = this.#thread
    this.#jobs += 1
    try {
      return await work(thread)
    } finally {
      this.#jobs -= 1
      if (this.#jobs === 0) {
        this.#thread = undefined
        await thread.close()
      }
    }
  }
}
