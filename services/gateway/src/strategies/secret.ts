import { domainLabel } from '@orch/core/names'
import { findPairProblem } from './key-pair.ts'
import type { RulesOf } from './kind-rules.ts'

/** The first level that warns of a certificate and a key that do not belong together. */
const pairsCheckedSince = 27

/** Warns about a certificate that no server could use. */
export const secretStrategy: RulesOf<'core/v1.Secret'> = {
  warnings({ type, data }, names, level) {
    if (level < pairsCheckedSince || type !== domainLabel(names, 'tls')) return []
    const [certificate, key] = ['tls.crt', 'tls.key'].map((name) => Buffer.from(data?.[name] ?? '', 'base64').toString())
    const problem = findPairProblem(certificate ?? '', key ?? '')
    return problem === undefined ? [] : [problem]
  },
}
