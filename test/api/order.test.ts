import { expect, test } from 'vitest'
import { configMapsIn, failure, sharedApi } from './api.ts'

const server = sharedApi()

test('CARD-10, AUTHN-GEN-02: authentication comes before routing', async () => {
  const nobody = server.api.as({})
  for (const target of ['/api/v1/nosuchthings', '/apis/nosuch.example.com/v1/things', configMapsIn('default')]) {
    const { status, body } = await nobody('GET', target, { headers: { authorization: 'Bearer nobody' } })
    expect({ target, status, body }).toEqual({ target, status: 401, body: failure(401, 'Unauthorized', 'Unauthorized') })
  }
})

test('CARD-11, IMP-01: impersonation comes before routing', async () => {
  const acting = { 'impersonate-user': 'jane' }
  const targets = ['/api/v1/nosuchthings', '/apis/nosuch.example.com/v1/things', configMapsIn('default')]
  for (const target of targets) {
    const asked = await server.api.get(target, acting)
    expect({ target, status: asked.status, message: asked.body.message }).toMatchObject({
      status: 403,
      message: expect.stringContaining('User "jane" cannot list resource'),
    })
    const refused = await server.api.get(target, { 'impersonate-group': 'system:masters' })
    expect({ target, status: refused.status }).toEqual({ target, status: 400 })
  }
})

test('CARD-12: the format is negotiated before the object is read', async () => {
  const { status } = await server.api.get(`${configMapsIn('default')}/absent`, { accept: 'image/png' })
  expect(status).toBe(406)
})
