import { describe, expect, test } from 'vitest'
import { decodeJson } from '../json/scan.ts'
import { decoderOf } from './decode.ts'

function read(type: string, text: string): unknown {
  const decoded = decodeJson(text, { keepsNumerals: true })
  if (decoded.kind === 'malformed') throw new Error(decoded.message)
  const result = decoderOf(type)(decoded.value, { trackUnknown: true, hasNumerals: decoded.hasNumerals })
  return result.kind === 'mismatch' ? result.textWithoutPath : result.object
}

const container = (member: string) => `{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":${member}}}}]}}`

describe('VAL-01: numbers with their spelling', () => {
  const refused: [type: string, text: string, message: string][] = [
    ['apps/v1.Deployment', '{"spec":{"replicas":1.0}}', 'number 1.0 into Go struct field DeploymentSpec.spec.replicas of type int32'],
    ['apps/v1.Deployment', '{"spec":{"replicas":10e-1}}', 'number 10e-1 into Go struct field DeploymentSpec.spec.replicas of type int32'],
    [
      'apps/v1.Deployment',
      '{"spec":{"replicas":99999999999999999999}}',
      'number 99999999999999999999 into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      'core/v1.Pod',
      '{"spec":{"activeDeadlineSeconds":9223372036854775808}}',
      'number 9223372036854775808 into Go struct field PodSpec.spec.activeDeadlineSeconds of type int64',
    ],
    [
      'core/v1.Service',
      '{"spec":{"ports":[{"targetPort":80.0}]}}',
      'number 80.0 into Go struct field ServicePort.spec.ports.targetPort of type int32',
    ],
    [
      'core/v1.Service',
      '{"spec":{"ports":[{"targetPort":true}]}}',
      'bool into Go struct field ServicePort.spec.ports.targetPort of type int32',
    ],
    ['core/v1.Pod', '{"spec":1.0}', 'number into Go struct field Pod.spec of type v1.PodSpec'],
    ['core/v1.ConfigMap', '{"data":{"a":1.0}}', 'number into Go struct field ConfigMap.data of type string'],
    ['coordination/v1.Lease', '{"spec":{"renewTime":5}}', 'number into Go struct field LeaseSpec.spec.renewTime of type string'],
  ]
  test.each(refused)('%s refuses %s', (type, text, message) => {
    expect(read(type, text)).toBe(`json: cannot unmarshal ${message}`)
  })

  test.each([
    ['1e0', '1e0'],
    ['1e-3', '1e-3'],
    ['1.0000', '1'],
    ['0.1', '100m'],
  ])('a quantity of %s is %s', (text, amount) => {
    expect(read('core/v1.Pod', container(text))).toMatchObject({
      spec: { containers: [{ resources: { requests: { cpu: amount } } }] },
    })
  })

  test('raw JSON has plain numbers, and exact large integers', () => {
    const schema = '{"default":{"a":1.0,"b":[1e2],"c":9007199254740993},"maximum":1.50,"items":{"minimum":2.0}}'
    expect(read('apiextensions/v1.JSONSchemaProps', schema)).toEqual({
      default: { a: 1, b: [100], c: 9007199254740993n },
      maximum: 1.5,
      items: { minimum: 2 },
    })
  })

  test('a number beyond the range of Go is refused at any place', () => {
    expect(read('apiextensions/v1.JSONSchemaProps', '{"default":{"a":1e400}}')).toBe(
      'json: cannot unmarshal number 1e400 into Go value of type float64',
    )
  })
})
