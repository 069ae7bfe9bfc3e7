import { createServer } from 'node:tls'
import { portOf } from '@orch/platform'
import { aCertificate, anAuthority } from '@orch/platform/any-certificate'
import { behindPath, drawAnswer } from './draw.ts'

const discovery = JSON.stringify({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'taste.example.com/v1alpha1', resources: [] })
const discoveryAnswer = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${discovery.length}\r\n\r\n${discovery}`

/** An APIService's server that answers discovery correctly and all other requests at random. */
export async function openBehind(seed: number) {
  const authority = await anAuthority('behind')
  const { certificate, key } = await aCertificate({ issuer: authority, commonName: 'api', use: 'server', dnsNames: ['api.team.svc'] })
  let asked = 0
  const server = createServer({ cert: certificate, key, ALPNProtocols: ['http/1.1'] }, (socket) => {
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      if (String(chunk).startsWith(`GET ${behindPath} HTTP/1.1`)) return void socket.write(discoveryAnswer)
      const { bytes, ends, cuts } = drawAnswer(seed, asked++)
      socket.write(bytes)
      if (cuts) socket.destroy()
      else if (ends) socket.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    flag: `--webhook-service-map=team/api=127.0.0.1:${portOf(server)}`,
    apiService: {
      apiVersion: 'apiregistration.orch.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1alpha1.taste.example.com' },
      spec: {
        ...{ group: 'taste.example.com', version: 'v1alpha1', groupPriorityMinimum: 1000, versionPriority: 15 },
        service: { namespace: 'team', name: 'api' },
        caBundle: Buffer.from(authority.certificate).toString('base64'),
      },
    },
    get asked() {
      return asked
    },
  }
}
