import { expect, test } from 'vitest'
import { parseRequestInfo } from './request-info.ts'
import { routeOf } from './trace.ts'

const routeOfGet = (path: string, code = 200) => routeOf(parseRequestInfo({ method: 'GET', path, isWatch: false }), code)

test.each([
  ['/api/v1/nodes', '/api/v1/nodes'],
  ['/api/v1/namespaces/a', '/api/v1/namespaces/{name}'],
  ['/api/v1/namespaces/a/status', '/api/v1/namespaces/{name}/status'],
  ['/api/v1/namespaces/a/pods', '/api/v1/namespaces/{namespace}/pods'],
  ['/apis/apps/v1/namespaces/a/deployments/b/scale', '/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale'],
  ['/api/v1/namespaces/a/services/b/proxy/x/y', '/api/v1/namespaces/{namespace}/services/{name}/proxy/{path}'],
  ['/version', '/version'],
])('the route of a request has parameters in the place of names: %s', (path, route) => {
  expect(routeOfGet(path)).toBe(route)
})

test.each([401, 403, 404])('a path at which nothing may be served has no route: %s', (code) => {
  expect(routeOfGet('/anything/at/all', code)).toBeUndefined()
})
