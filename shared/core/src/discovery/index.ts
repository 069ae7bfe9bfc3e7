export * from './aggregated.ts'
export * from './legacy.ts'
