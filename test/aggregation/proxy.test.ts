import { expect, test } from 'vitest'
import { anApi, created } from '../api/api.ts'
import { anApiService, apiServices, conditionOf, registered, serviceAt } from './api-services.ts'
import { aFlavor, aRemoteServer, flavorsPath, json, servingFlavors } from './remote-server.ts'

test('AGG-15, AGG-18: a request for the group version of another server is answered by that server', async () => {
  const server = await aRemoteServer(servingFlavors)
  const api = await anApi({ flags: [serviceAt(server)] })
  expect(await registered(api, anApiService(server))).toMatchObject({ reason: 'Passed', message: 'all checks passed' })
  const one = await api.get(`${flavorsPath}/namespaces/default/flavors/sweet`)
  expect([one.status, one.body]).toEqual([200, aFlavor('sweet')])
  expect(server.asked().map(({ method, url, serverName }) => [method, url, serverName])).toEqual([
    ['GET', `${flavorsPath}/namespaces/default/flavors/sweet`, 'api.team.svc'],
  ])
})

test('AGG-10: a server that refuses every named media type is available, since the check names none', async () => {
  const server = await aRemoteServer(({ headers }, response) => json(response, headers.accept === undefined ? 200 : 406, {}))
  const api = await anApi({ flags: [serviceAt(server)] })
  expect(await registered(api, anApiService(server))).toMatchObject({ reason: 'Passed' })
})

test('AGG-19: a group version whose server does not answer discovery is a 503, and its condition has the reason', async () => {
  const server = await aRemoteServer((_arrived, response) => json(response, 403, {}))
  const api = await anApi({ flags: [serviceAt(server)] })
  const { metadata } = await created(api, apiServices, anApiService(server))
  const condition = await conditionOf(api, metadata.name, ({ status }) => status === 'False')
  const url = `https://${server.address}${flavorsPath}`
  expect(condition).toMatchObject({
    reason: 'FailedDiscoveryCheck',
    message: `failing or missing response from ${url}: bad status from ${url}: 403`,
  })
  const { status, text, headers } = await api.get(`${flavorsPath}/flavors`)
  expect([status, text, headers['content-type']]).toEqual([503, 'service unavailable\n', 'text/plain; charset=utf-8'])
  expect(server.asked()).toEqual([])
})
