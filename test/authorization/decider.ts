import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { aFolder } from '@orch/testkit/folder'
import { onTestFinished } from 'vitest'

/** The review that the webhook receives. */
export interface Review {
  readonly apiVersion: string
  readonly spec: Record<string, unknown> & { resourceAttributes?: { verb: string; resource: string } & Readonly<Record<string, unknown>> }
}

/** An authorization webhook that records the questions. */
export async function aDecider(answer: (review: Review) => { code?: number; body: unknown }, modes = 'Webhook') {
  const asked: Review[] = []
  const listener: RequestListener = async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const review = JSON.parse(text) as Review
    asked.push(review)
    const { code = 200, body } = answer(review)
    response.writeHead(code, { 'content-type': 'application/json' }).end(typeof body === 'string' ? body : JSON.stringify(body))
  }
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const file = join(aFolder(), 'webhook.conf')
  const cluster = { name: 'c', cluster: { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}/decide` } }
  const context = { name: 'x', context: { cluster: 'c' } }
  writeFileSync(file, JSON.stringify({ clusters: [cluster], contexts: [context], 'current-context': 'x' }))
  const flags = [`--authorization-mode=${modes}`, `--authorization-webhook-config-file=${file}`]
  return { asked, flags }
}

/** A review with an answer. */
export const verdict = (review: Review, status: object) => ({
  body: { kind: 'SubjectAccessReview', apiVersion: review.apiVersion, status },
})
