// Package page holds one component for each page of the dashboard.
//
// It owns the order of parts on a screen and nothing else: what a page says
// comes in a struct of package view. Start reading at Home.
package page
