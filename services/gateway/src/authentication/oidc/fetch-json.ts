import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { answerHead, isLinkLocal, lookupElsewhere, messageOf, systemAuthorities, systemClock, timeoutSignal } from '@orch/platform'
import { limits } from './limits.ts'

/** Reads a JSON document; rejects with a message that names the address. */
export type FetchJson = (url: string) => Promise<unknown>

/** Documents only over TLS, verified by the given authorities (PEM) or the machine's. Redirects are not followed. */
export function createFetchJson({ certificateAuthorities }: { certificateAuthorities?: string | undefined }): FetchJson {
  return async (url) => {
    const { protocol, hostname } = new URL(url)
    if (protocol !== 'https:') throw new Error(`${url}: must begin with https://`)
    if (isLinkLocal(hostname.replace(/^\[|\]$/g, ''))) throw new Error(`${url}: link-local addresses are not asked`)
    const signal = timeoutSignal(systemClock, limits.fetchMs)
    try {
      const request = httpsRequest(url, {
        ca: certificateAuthorities ?? systemAuthorities(),
        allowPartialTrustChain: true,
        signal,
        agent: false,
        minVersion: 'TLSv1.2',
        lookup: lookupElsewhere,
        headers: { accept: 'application/json' },
      })
      request.end()
      return await readJson(await answerHead(request))
    } catch (error) {
      throw new Error(`${url}: ${signal.aborted ? 'no answer in time' : messageOf(error)}`, { cause: error })
    }
  }
}

async function readJson(response: Pick<IncomingMessage, 'statusCode' | 'destroy'> & AsyncIterable<Buffer>): Promise<unknown> {
  if (response.statusCode !== 200) {
    response.destroy()
    throw new Error(`the answer is ${response.statusCode}, not 200`)
  }
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response) {
    length += chunk.length
    if (length > limits.documentBytesMax) throw new Error(`the document has more than ${limits.documentBytesMax} bytes`)
    chunks.push(chunk)
  }
  return JSON.parse(Buffer.concat(chunks).toString())
}
