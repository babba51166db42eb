// The components that all pages share.

import "./theme.css";

export * as format from "./format";
export { type Column, DataTable, type DataTableProps } from "./data-table";
export { HeatMap, type HeatMapProps } from "./heat-map";
export { LineChart, type LineChartProps, type Series } from "./line-chart";
export { Sentence, type Mood } from "./sentence";
export { type Colours, colours, dashes, onThemeChange, wantsStill } from "./theme";
export { type Level, reachOf, Waterline, type WaterlineProps } from "./waterline";
