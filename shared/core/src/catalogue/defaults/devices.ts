import { child, children, type Draft, fillEmpty } from '../../kind/draft.ts'

/** Fills the requests of a claim. */
export function fillResourceClaim(claim: Draft): void {
  fillDevices(child(claim, 'spec'))
  const allocation = child(child(claim, 'status'), 'allocation')
  for (const result of children(child(allocation, 'devices'), 'results')) fillTolerations(result)
}

/** Fills the requests of a claim template. */
export function fillClaimTemplate(template: Draft): void {
  fillDevices(child(child(template, 'spec'), 'spec'))
}

/** Like `fillResourceClaim`, for v1beta1, where a request without a class has alternatives. */
export function fillBetaClaim(claim: Draft): void {
  fillResourceClaim(claim)
  fillFlatRequests(child(claim, 'spec'))
}

/** Like `fillClaimTemplate`, for v1beta1. */
export function fillBetaClaimTemplate(template: Draft): void {
  fillClaimTemplate(template)
  fillFlatRequests(child(child(template, 'spec'), 'spec'))
}

function fillFlatRequests(spec: Draft | undefined): void {
  for (const request of children(child(spec, 'devices'), 'requests')) {
    if (typeof request['deviceClassName'] === 'string' && request['deviceClassName'] !== '') fillRequest(request)
    else fillTolerations(request)
  }
}

function fillDevices(spec: Draft | undefined): void {
  for (const request of children(child(spec, 'devices'), 'requests')) {
    fillRequest(child(request, 'exactly'))
    for (const one of children(request, 'firstAvailable')) fillRequest(one)
  }
}

function fillRequest(request: Draft | undefined): void {
  if (request === undefined) return
  fillEmpty(request, { allocationMode: 'ExactCount' })
  const { count = 0 } = request
  if (request['allocationMode'] === 'ExactCount' && (count === 0 || count === 0n || count === null)) request['count'] = 1
  fillTolerations(request)
}

function fillTolerations(part: Draft): void {
  for (const toleration of children(part, 'tolerations')) fillEmpty(toleration, { operator: 'Equal' })
}
