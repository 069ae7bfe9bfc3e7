import { connect as connectHttp2 } from 'node:http2'
import { request as httpsRequest } from 'node:https'
import { connect as connectPlain } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Api, aNamespace, configMap, configMapsIn, sharedApi, someConfigMaps } from './api.ts'

const server = sharedApi()

describe('a JSON answer ends with a newline', () => {
  test.each([
    ['an object', '/api/v1/namespaces/default'],
    ['a list', '/api/v1/namespaces'],
    ['an empty list', '/api/v1/pods'],
    ['a failure', '/api/v1/namespaces/none'],
    ['a discovery document', '/api/v1'],
    ['the version', '/version'],
    ['the list of paths', '/'],
    ['an OpenAPI document', '/openapi/v3'],
    ['a pretty object', '/api/v1/namespaces/default?pretty=true'],
    ['a pretty list', '/api/v1/namespaces?pretty=true'],
  ])('%s', async (_what, path) => {
    const { text } = await server.api.get(path)
    expect(text).toMatch(/[}\]]\n$/)
  })

  test.each(['/api/v1/namespaces', '/api/v1/namespaces/default'])('for a Table of %s', async (path) => {
    const { text, body } = await server.api.get(path, { accept: 'application/json;as=Table;v=v1;g=meta.orch.io' })
    expect(body.kind).toBe('Table')
    expect(text).toMatch(/\}\n$/)
  })

  test('and content-length counts it', async () => {
    const { headers, text } = await server.api.get(`${await someConfigMaps(server.api, 'a')}/a`)
    expect(Number(headers['content-length'])).toBe(Buffer.byteLength(text))
  })
})

describe('VAL-10: each warning is a separate header field', () => {
  const body = { ...configMap({ name: 'warned' }), bogus: 1, other: 2 }
  const expected = ['299 - "unknown field \\"bogus\\""', '299 - "unknown field \\"other\\""']

  test('over HTTP/1.1', async () => {
    const raw = await rawHeaders(server.api, `${configMapsIn(await aNamespace(server.api))}?fieldValidation=Warn`, JSON.stringify(body))
    expect(raw.filter((_value, index) => raw[index - 1]?.toLowerCase() === 'warning')).toEqual(expected)
  })

  test('over HTTP/2', async () => {
    const session = connectHttp2(server.api.url, server.api.credentials)
    onTestFinished(() => session.close())
    const path = `${configMapsIn(await aNamespace(server.api))}?fieldValidation=Warn`
    const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/json' })
    const raw = new Promise<string[]>((resolve) => {
      stream.on('response', (_headers, _flags, rawFields: string[]) => resolve(rawFields))
    })
    stream.end(JSON.stringify(body))
    const fields = await raw
    expect(fields.filter((_value, index) => fields[index - 1] === 'warning')).toEqual(expected)
  })
})

describe('the Allow header of a 405 lists the methods of its path', () => {
  test.each([
    ['POST', '/api/v1/namespaces/default/configmaps/a', 'GET, PUT, PATCH, DELETE'],
    ['PUT', '/api/v1/namespaces/default/configmaps', 'GET, POST, DELETE'],
    ['POST', '/api/v1/configmaps', 'GET'],
    ['DELETE', '/api/v1/namespaces', 'GET, POST'],
    ['DELETE', '/api/v1/namespaces/default/pods/a/status', 'GET, PUT, PATCH'],
    ['GET', '/api/v1/namespaces/default/pods/a/eviction', 'POST'],
    ['POST', '/api/v1/watch/pods', 'GET'],
    ['POST', '/version', 'GET, HEAD'],
  ])('such as %s %s: %s', async (method, path, allowed) => {
    const { status, headers } = await server.api.send(method, path)
    expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: allowed })
  })
})

describe('plain HTTP on the TLS port', () => {
  test.each([
    ['a GET', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a POST with a body', `POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n${'x'.repeat(20)}`],
    ['a PUT that is longer than what is read at once', `PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n${'x'.repeat(200_000)}`],
  ])('%s gets a 400 with that reason', async (_what, sent) => {
    const text = await exchanged(server.api, sent)
    expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
    expect(text).toMatch(/\r\n\r\nClient sent an HTTP request to an HTTPS server\.\n$/)
  })

  test('bytes that are neither HTTP nor TLS get no plain HTTP answer', async () => {
    expect(await exchanged(server.api, '\u0001\u0002\u0003\u0004\u0005\u0006')).not.toContain('HTTP request')
  })
})

function rawHeaders(api: Api, path: string, body: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(api.url)
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const request = httpsRequest({ method: 'POST', hostname, port, path, headers, agent: false, ...api.credentials }, (response) => {
      response.resume().on('end', () => resolve(response.rawHeaders))
    })
    request.on('error', reject).end(body)
  })
}

function exchanged(api: Api, sent: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connectPlain({ host: '127.0.0.1', port: Number(new URL(api.url).port) })
    let text = ''
    socket.on('data', (chunk) => {
      text += String(chunk)
    })
    // The server may close the connection when it does not read a body.
    socket.on('error', () => {}).on('close', () => resolve(text))
    socket.write(sent)
  })
}
