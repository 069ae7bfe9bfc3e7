import { expect, test } from 'vitest'
import { filePerGateway, gatewayFlags } from './up-distributed.ts'

test('AUDIT-08: each of several gateways has a separate audit file', () => {
  expect(filePerGateway('/var/log/audit.log', 1)).toBe('/var/log/audit-gateway-1.log')
  expect(filePerGateway('audit', 0)).toBe('audit-gateway-0')
  expect(['', '-'].map((path) => filePerGateway(path, 1))).toEqual(['', '-'])
})

test('with a separate admission service, gateways get the addresses of webhooks and APIServices, and no flags of plugins', () => {
  const given = ['--webhook-service-map=team/api=127.0.0.1:1', '--webhook-link-local=true', '--disable-admission-plugins=Priority']
  expect(gatewayFlags(given, { hostsAdmission: false })).toEqual(given.slice(0, 2))
  expect(gatewayFlags(given, { hostsAdmission: true })).toEqual(given)
})
