import { expect, test } from 'vitest'
import { filePerGateway } from './up-distributed.ts'

test('AUDIT-08: each of several gateways has an audit file of its own', () => {
  expect(filePerGateway('/var/log/audit.log', 1)).toBe('/var/log/audit-gateway-1.log')
  expect(filePerGateway('audit', 0)).toBe('audit-gateway-0')
  expect(['', '-'].map((path) => filePerGateway(path, 1))).toEqual(['', '-'])
})
