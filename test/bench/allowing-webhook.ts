import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { aCertificate, anAuthority } from '@orch/platform/any-certificate'

/** A webhook that allows every request. It runs in the load's process and so uses part of the load's time. */
export async function anAllowingWebhook() {
  const authority = await anAuthority('bench-authority')
  const { certificate, key } = await aCertificate({ issuer: authority, commonName: 'bench-webhook', use: 'server' })
  const server = createServer({ cert: certificate, key }, (request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => {
      text += chunk
    })
    request.on('end', () => {
      const { apiVersion, kind, request: asked } = JSON.parse(text)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ apiVersion, kind, response: { uid: asked.uid, allowed: true } }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    clientConfig: {
      url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      caBundle: Buffer.from(authority.certificate).toString('base64'),
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
